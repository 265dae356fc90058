/**
 * Lines similar to those that `claude -p --output-format stream-json --verbose` prints in an hour of work: mostly
 * tool results, some of them long; tool calls; occasional short texts; keep-alive lines in between. Deterministic.
 */
export function* streamLines(): Generator<string> {
  const session = { session_id: '0b7c9d0e-4f53-4b0e-9d86-2f4f0d6c1a11', parent_tool_use_id: null };
  for (let n = 0; ; n++) {
    const id = `toolu_01${String(n).padStart(22, '0')}`;
    if (n % 10 === 0) {
      yield line({
        type: 'assistant',
        message: message([{ type: 'text', text: `Now the totals of group ${n}. ${prose(40)}` }]),
        ...session,
      });
    }
    const isEdit = n % 3 === 0;
    yield line({
      type: 'assistant',
      message: message([
        {
          ...{ type: 'tool_use', id, name: isEdit ? 'Edit' : 'Bash' },
          input: isEdit
            ? {
                file_path: `/home/someone/app/src/group${n}.ts`,
                old_string: code(6),
                new_string: code(9),
              }
            : { command: `npm test -- group${n}`, description: 'Run the tests of the group' },
        },
      ]),
      ...session,
    });
    yield line({ type: 'system', subtype: 'task_progress', elapsed: n, ...session });
    const output = code([5, 20, 60, 200, 400][n % 5] ?? 5);
    yield line({
      type: 'user',
      message: {
        role: 'user',
        content: [
          { tool_use_id: id, type: 'tool_result', content: output, is_error: n % 25 === 0 },
        ],
      },
      ...session,
      tool_use_result: { stdout: output, stderr: '', interrupted: false, isImage: false },
    });
  }
}

/** Complete lines of about this many bytes in total. */
export function streamOf(bytes: number): Buffer {
  const lines: Buffer[] = [];
  let size = 0;
  for (const text of streamLines()) {
    const bytesOfLine = Buffer.from(text);
    lines.push(bytesOfLine);
    size += bytesOfLine.length;
    if (size >= bytes) {
      break;
    }
  }
  return Buffer.concat(lines);
}

function line(event: object): string {
  return `${JSON.stringify(event)}\n`;
}

function message(content: readonly object[]): object {
  return {
    ...{ id: 'msg_01', type: 'message', role: 'assistant', model: 'a-model', content },
    usage: { input_tokens: 4, cache_read_input_tokens: 21_000, output_tokens: 120 },
  };
}

function prose(words: number): string {
  return 'the sum leaves out entries without a date and '.repeat(Math.ceil(words / 9)).trim();
}

/** Lines with characters that JSON escapes, and some multi-byte characters. */
function code(lines: number): string {
  return '\tconst total = sum(group.entries.map(({ "value": value }) => value ?? 0)); // Σ “all”\n'.repeat(
    lines,
  );
}
