import { html, LitElement, type PropertyValues } from 'lit';
import type { ProgressStrings, ShownQuestion } from '../views/progress/protocol.ts';
import { post, savedPageState, savePageState } from './vsCodeApi.ts';

/** Maximum length of an answer, as in the protocol, in UTF-16 units. */
const MAX_ANSWER = 8_000;

/** `<ralph-answer>`: a field for the answer to an agent's question. A draft survives a reload. */
export class AnswerElement extends LitElement {
  static override properties = {
    question: { attribute: false },
    strings: { attribute: false },
    text: { attribute: false },
    isSent: { attribute: false },
  };

  declare question: ShownQuestion | undefined;
  declare strings: ProgressStrings | undefined;
  declare protected text: string;
  /** Disables the button while the answer is being sent. */
  declare protected isSent: boolean;

  constructor() {
    super();
    this.question = undefined;
    this.text = '';
    this.isSent = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues): void {
    const before = changed.get('question') as ShownQuestion | undefined;
    // Each snapshot contains a new object for the same question.
    if (changed.has('question') && before?.id !== this.question?.id) {
      const { draft } = savedPageState();
      this.text = draft !== undefined && draft.question === this.question?.id ? draft.text : '';
      this.isSent = false;
    }
  }

  protected override render(): unknown {
    const { isSent, question, strings, text } = this;
    if (!strings || !question) {
      return undefined;
    }
    const cannotSend = isSent || text.trim() === '';
    return html`
      <div class="answer">
        <label for="answer">${strings.answer}</label>
        <textarea
          id="answer"
          rows="3"
          maxlength=${MAX_ANSWER}
          aria-describedby="answer-help"
          .value=${text}
          @input=${({ target }: Event) => this.keep((target as HTMLTextAreaElement).value)}
          @keydown=${(event: KeyboardEvent) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              this.send();
            }
          }}
        ></textarea>
        <div class="actions">
          <button
            type="button"
            class="primary"
            aria-disabled=${cannotSend ? 'true' : 'false'}
            @click=${() => this.send()}
          >${question.send}</button>
          <span id="answer-help" class="quiet">${question.help}</span>
        </div>
      </div>
    `;
  }

  private keep(text: string): void {
    this.text = text;
    this.isSent = false;
    if (this.question) {
      savePageState({ draft: { question: this.question.id, text } });
    }
  }

  private send(): void {
    const text = this.text.trim();
    const { question } = this;
    if (text !== '' && question && !this.isSent) {
      this.isSent = true;
      post({ type: 'answer', text, question: question.id, storyId: question.storyId });
      savePageState({ draft: undefined });
    }
  }
}

customElements.define('ralph-answer', AnswerElement);
