import { CursorError, DegradedError } from './errors.js';
/**
 * pages reads a list page by page, each when the one before is used up. A service that cannot read a cursor begins anew, so
 * a cursor that was seen before ends the list with an error.
 */
export async function* pages(page, rows) {
    const seen = new Set();
    for (let cursor;;) {
        let got;
        let late;
        try {
            got = await page(cursor);
        }
        catch (e) {
            if (!(e instanceof DegradedError))
                throw e;
            late = e;
            got = e.value;
        }
        const [list, next] = rows(got);
        yield* list;
        if (late)
            throw late;
        if (!next)
            return;
        if (seen.has(next))
            throw new CursorError('the cursor of the list leads back to a page that was read');
        seen.add(next);
        cursor = next;
    }
}
