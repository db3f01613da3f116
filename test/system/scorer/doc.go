// Package scorer computes prices and scores a second time, from the text of the
// protocol alone and in another way than the product: with exact fractions of a
// dollar instead of integer basis points. The two must agree on every case.
package scorer
