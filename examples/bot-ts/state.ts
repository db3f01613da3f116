// State file of the bot: its decisions by market.
import { open, readFile, rename } from 'node:fs/promises';
import type { Side } from 'signalcast';

/** A decision of the bot on one market. */
export interface Call {
  side: Side;
  /** Price in bps of the side. */
  price: number;
  /** Idempotency key of the request. */
  key: string;
  /**
   * `filing`: the request may have been sent; its result is unknown. `filed`: the ledger has the call. `refused`: the service refused the call, or
   * the bot skips the market.
   */
  status: 'filing' | 'filed' | 'refused';
  id?: string;
  reason?: string;
}

export class State {
  private constructor(private readonly path: string, readonly calls: Map<string, Call>) {}

  /** Reads the state file. A missing file is an empty state. */
  static async open(path: string): Promise<State> {
    let text = '{"calls":{}}';
    try {
      text = await readFile(path, 'utf8');
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
    }
    return new State(path, new Map(Object.entries((JSON.parse(text) as { calls: Record<string, Call> }).calls)));
  }

  /** Changes the decision on a market and replaces the file. After a crash the file has the old or the new content. */
  async set(marketId: string, call: Call | undefined): Promise<void> {
    if (call) this.calls.set(marketId, call);
    else this.calls.delete(marketId);
    const file = await open(`${this.path}.new`, 'w');
    try {
      await file.writeFile(`${JSON.stringify({ calls: Object.fromEntries(this.calls) }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.path}.new`, this.path);
  }
}
