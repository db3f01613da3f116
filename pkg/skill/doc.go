// Package skill computes how much of an operator's record is skill: the edge over the price with a confidence
// interval, the exact probability of the record if every price was right, the number of further calls until the
// result is significant, and the calibration of stated confidence. docs/method.md contains the formulas and their
// sources.
//
// A Sample contains only integers, so the order of Add and Merge has no effect. All further computations use sums,
// differences, products, quotients and square roots in a fixed order, each rounded separately. Every platform
// therefore computes identical bits, and anyone can recompute published results (testdata/vectors.json).
package skill
