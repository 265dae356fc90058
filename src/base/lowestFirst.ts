/** Numbers of which the lowest is taken first, in steps that do not grow with how many there are: a binary heap. */
export class LowestFirst {
  private readonly heap: number[] = [];

  add(number: number): void {
    const { heap } = this;
    let at = heap.push(number) - 1;
    for (let above = (at - 1) >> 1; at > 0 && this.at(above) > number; above = (at - 1) >> 1) {
      heap[at] = this.at(above);
      at = above;
    }
    heap[at] = number;
  }

  /** @returns `undefined` if there is none left */
  take(): number | undefined {
    const { heap } = this;
    const [lowest] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) {
      return lowest;
    }
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const lower = this.at(below + 1) < this.at(below) ? below + 1 : below;
      if (this.at(lower) >= last) {
        break;
      }
      heap[at] = this.at(lower);
      at = lower;
    }
    heap[at] = last;
    return lowest;
  }

  private at(index: number): number {
    return this.heap[index] ?? Number.POSITIVE_INFINITY;
  }
}
