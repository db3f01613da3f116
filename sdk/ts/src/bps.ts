// Prices. The services count in basis points (bps): 6550 bps is 65.5 cents, or 65.5 percent.

/** A side of a market. */
export type Side = 'YES' | 'NO';

/** rounded returns an integer from 0 to 10000. It throws a RangeError for another number. */
function rounded(value: number, what: string): number {
  const n = Math.round(value);
  if (!(n >= 0 && n <= 10_000)) throw new RangeError(`${what} is out of range; a price is 0 to 10000 bps, which is 0 to 100 cents or 0 to 1`);
  return n;
}

/** Conversions of prices. They round to whole basis points and throw a RangeError for a value that is not a price. */
export const bps = {
  /** 65.5 cents is 6550. The same number in percent is the same price. */
  fromCents: (cents: number): number => rounded(cents * 100, `${cents} cents`),
  /** A probability of 0.655 is 6550. */
  fromProbability: (p: number): number => rounded(p * 10_000, `the probability ${p}`),
  /** 6550 is 65.5 cents. */
  toCents: (price: number): number => rounded(price, `${price} bps`) / 100,
  /** 6550 is a probability of 0.655. */
  toProbability: (price: number): number => rounded(price, `${price} bps`) / 10_000,
  /** Returns the price of a side by the price of YES, without a spread: the NO side of 6550 is 3450. */
  sideOf: (yesBps: number, side: Side): number => (side === 'YES' ? rounded(yesBps, `${yesBps} bps`) : 10_000 - rounded(yesBps, `${yesBps} bps`)),
  /** Returns the price at which a side can be bought: `yesPriceBps` or `noPriceBps` of a market; null without a quote. */
  costOf: (market: { yesPriceBps?: number | null; noPriceBps?: number | null }, side: Side): number | null =>
    (side === 'YES' ? market.yesPriceBps : market.noPriceBps) ?? null,
  /** Text of a price for people: 6550 is `65.5¢`. */
  format: (price: number): string => `${rounded(price, `${price} bps`) / 100}¢`,
} as const;
