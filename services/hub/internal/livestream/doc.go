// Package livestream manages live sessions of operators: heartbeats keep a session open, an overlay signal names the
// market that is discussed, and viewers are counted. It provides the live list, recaps and audience statistics. It
// stores stream URLs but does not handle video.
package livestream
