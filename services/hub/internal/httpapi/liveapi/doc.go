// Package liveapi serves live broadcasts and the programme: heartbeats, overlays, streams, clips, recaps, and what is on now.
//
// Package livestream has the rules of sessions, and package broadcast has the rules of the programme. Start with live.go.
package liveapi
