// Package resolution stores the outcome of a market once and scores its calls.
//
// Every resolver (finalize, forced resolution, venue scan) ends in Service.Claim. A resolution and its scores are committed
// together. A market with more calls than one transaction scores is resolved first; Drain then scores the remaining calls in
// chunks and can be repeated after a crash.
package resolution
