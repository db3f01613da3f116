// Package federation is what this station and its partners show together: tapes and
// operators. What a partner says is data: each row is checked by itself, and speaks for
// the partner that sent it whatever it says.
package federation
