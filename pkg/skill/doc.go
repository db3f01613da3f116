// Package skill says how much of an operator's record is skill: the edge against
// the price with an interval, the exact chance of such a record if every price
// was right, the calls still needed to tell, and how well stated confidence
// holds. docs/method.md has the formulas and their sources.
//
// It is pure arithmetic. A Sample is whole numbers only, so the order in which
// calls are added and samples are merged does not matter. From there on only
// sums, differences, products, quotients and square roots are used, in a fixed
// order and each rounded by itself, so every platform comes to the same bits:
// strangers recompute what we publish (testdata/vectors.json).
package skill
