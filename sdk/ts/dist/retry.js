export const usual = { tries: 4, first: 250, longest: 10_000, each: 30_000 };
/** passing tells whether the same request may soon be answered better. */
export const passing = (status, headers) => [429, 502, 503, 504].includes(status) || (status < 300 && headers.has('x-degraded'));
/** pause is how long to wait before try n+1, by chance, so that many do not come at once; undefined: too long to wait. */
export function pause(p, n, wants, chance = Math.random()) {
    if (wants > p.longest)
        return undefined;
    const most = Math.min(p.first * 2 ** (n - 1), p.longest);
    return wants > 0 ? wants + chance * Math.min(most, p.longest - wants) : most / 2 + (chance * most) / 2;
}
/** sleep waits, or throws the reason of the signal. */
export function sleep(ms, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', end);
            resolve();
        }, ms);
        if (signal?.aborted)
            end();
        else
            signal?.addEventListener('abort', end, { once: true });
    });
}
