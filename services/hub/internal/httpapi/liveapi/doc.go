// Package liveapi serves live broadcasts and the programme: heartbeats, overlays, streams, clips, recaps and the broadcast feed.
//
// Package livestream has the rules of sessions, and package broadcast has the rules of the programme. Start with live.go.
package liveapi
