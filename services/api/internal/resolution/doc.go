// Package resolution stores the outcome of a market once and scores the calls on it.
//
// Every resolver (finalization, forced resolution, venue scan) calls Service.Claim. A resolution and the scores of its calls
// are committed together. If a market has more calls than one transaction may score, the resolution is committed first. Drain
// then scores the remaining calls in chunks, and can be repeated after a crash.
package resolution
