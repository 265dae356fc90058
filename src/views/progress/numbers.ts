import { dollars, wholeNumber } from '../../presentation/translate.ts';

/** Formats numbers in the display language. */
export class Numbers {
  private readonly language: string;
  private readonly short: Intl.NumberFormat;
  private readonly part: Intl.NumberFormat;

  /** @param language BCP 47, as VS Code names its display language */
  constructor(language: string) {
    this.language = language;
    this.short = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
    this.part = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 });
  }

  /** US dollars. A positive cost is never shown as zero, and an estimate is marked as one. */
  money(usd: number, { estimated = false }: { readonly estimated?: boolean } = {}): string {
    return dollars(usd, { language: this.language }, estimated);
  }

  count(value: number): string {
    return wholeNumber(value, { language: this.language });
  }

  /** About three digits, such as `41.2K`. */
  compact(value: number): string {
    return this.short.format(value);
  }

  /** @param share from 0 to 1 */
  percent(share: number): string {
    return share > 0 && share < 0.01 ? `<${this.part.format(0.01)}` : this.part.format(share);
  }
}
