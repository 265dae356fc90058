const MAX_TITLE_LENGTH = 200;

/** A request that cannot be served as it is; the message tells the client what to fix. */
export class InvalidRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws {InvalidRequest} when the body is not a JSON object */
export async function readBody(request: Request): Promise<Record<string, unknown>> {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    throw new InvalidRequest(400, 'The body must be JSON.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidRequest(400, 'The body must be a JSON object.');
  }
  return { ...body };
}

/** @throws {InvalidRequest} when the value is no usable title */
export function parseTitle(value: unknown): string {
  const title = typeof value === 'string' ? value.trim() : '';
  if (title === '') {
    throw new InvalidRequest(422, 'A todo needs a title.');
  }
  if (title.length > MAX_TITLE_LENGTH) {
    throw new InvalidRequest(422, `A title has at most ${MAX_TITLE_LENGTH} characters.`);
  }
  return title;
}

/** @throws {InvalidRequest} when the value is neither true nor false */
export function parseDone(value: unknown): boolean {
  if (typeof value !== 'boolean') {
    throw new InvalidRequest(422, 'Say with done: true or done: false whether the todo is done.');
  }
  return value;
}
