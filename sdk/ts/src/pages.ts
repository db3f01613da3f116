import { CursorError, DegradedError } from './errors.js';

/**
 * pages yields the items of a list and requests each page when the previous one is consumed. A service starts at the first page if it cannot
 * read a cursor, so a repeated cursor ends the list with a CursorError. An incomplete page is yielded before its DegradedError is thrown.
 */
export async function* pages<P, T>(
  page: (cursor: string | undefined) => Promise<P>,
  rows: (p: P) => readonly [readonly T[], string | null | undefined],
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    let result: P;
    let degraded: DegradedError | undefined;
    try {
      result = await page(cursor);
    } catch (e) {
      if (!(e instanceof DegradedError)) throw e;
      degraded = e;
      result = e.value as P;
    }
    const [list, next] = rows(result);
    yield* list;
    if (degraded) throw degraded;
    if (!next) return;
    if (seen.has(next)) throw new CursorError('the service returned the same cursor twice, so the list stopped early; it may be incomplete');
    seen.add(next);
    cursor = next;
  }
}
