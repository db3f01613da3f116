// Package livestream manages the live sessions of operators. Heartbeats keep a session open. An overlay signal names the market
// that the operator discusses. The package counts viewers and provides the list of live sessions, recaps and audience statistics.
// It stores stream URLs but does not handle video.
package livestream
