import { CursorError, DegradedError } from './errors.js';

/**
 * pages reads a list page by page, each when the one before is used up. A service that cannot read a cursor begins anew, so
 * a cursor that was seen before ends the list with an error.
 */
export async function* pages<P, T>(
  page: (cursor: string | undefined) => Promise<P>,
  rows: (p: P) => readonly [readonly T[], string | null | undefined],
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    let got: P;
    let late: DegradedError | undefined;
    try {
      got = await page(cursor);
    } catch (e) {
      if (!(e instanceof DegradedError)) throw e;
      late = e;
      got = e.value as P;
    }
    const [list, next] = rows(got);
    yield* list;
    if (late) throw late;
    if (!next) return;
    if (seen.has(next)) throw new CursorError('the cursor of the list leads back to a page that was read');
    seen.add(next);
    cursor = next;
  }
}
