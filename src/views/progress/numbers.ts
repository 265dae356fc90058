/** Numbers as the window's language writes them. */
export class Numbers {
  private readonly usd: Intl.NumberFormat;
  private readonly whole: Intl.NumberFormat;
  private readonly short: Intl.NumberFormat;
  private readonly part: Intl.NumberFormat;

  /** @param language BCP 47, as VS Code names its display language */
  constructor(language: string) {
    this.usd = new Intl.NumberFormat(language, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
    });
    this.whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    this.short = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
    this.part = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 });
  }

  /** US dollars. Nothing that costs is shown as free, and no estimate as a fact. */
  money(usd: number, { estimated = false }: { readonly estimated?: boolean } = {}): string {
    const words = usd > 0 && usd < 0.01 ? `<${this.usd.format(0.01)}` : this.usd.format(usd);
    return estimated ? `≈ ${words}` : words;
  }

  count(value: number): string {
    return this.whole.format(value);
  }

  /** Three digits or so, as `41.2K`. */
  compact(value: number): string {
    return this.short.format(value);
  }

  /** @param share of 1 */
  percent(share: number): string {
    return share > 0 && share < 0.01 ? `<${this.part.format(0.01)}` : this.part.format(share);
  }
}
