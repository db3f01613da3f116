/**
 * pages reads a list page by page, each when the one before is used up. A service that cannot read a cursor begins anew, so
 * a cursor that was seen before ends the list with an error.
 */
export declare function pages<P, T>(page: (cursor: string | undefined) => Promise<P>, rows: (p: P) => readonly [readonly T[], string | null | undefined]): AsyncGenerator<T, void, undefined>;
