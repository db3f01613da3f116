package httpapi

import (
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
)

// toolScopes returns the scopes that the tools require.
func toolScopes(tools mcp.Tools) grant.Scopes {
	var required grant.Scopes
	for _, t := range tools {
		required = append(required, t.Scope)
	}
	return grant.AllScopes().Intersect(required)
}

// tools returns the MCP tools with their descriptions, required permissions and functions.
func (s *Server) tools() mcp.Tools {
	return mcp.Tools{
		{
			Name: "get_market", Title: "Market",
			About: "Returns one market: price, status, outcome and the share of calls on YES. yesBps is the price of YES in basis " +
				"points (6550 is 65.5 cents), yesPrice the same from 0 to 1.",
			Run: s.stations.ToolMarket,
		},
		{
			Name: "get_operator", Title: "Operator",
			About: "Returns the track record of one operator. Without a handle, returns the leaderboard.",
			Run:   s.reads.ToolOperator,
		},
		{
			Name: "get_program", Title: "Programme", About: "Returns the programme: what is on now and what comes next.",
			Run: s.live.ToolProgram,
		},
		{
			Name: "get_signal", Title: "Call", About: "Returns one call with its history and, after resolution, its result.",
			Run: s.reads.ToolSignal,
		},
		{
			Name: "list_signals", Title: "Calls",
			About: "Lists calls: the newest, those that beat the crowd, or open calls with the current price. " +
				"Prices are basis points of the side called: 6550 is 65.5 cents.",
			Run: s.reads.ToolSignals,
		},
		{
			Name: "my_record", Title: "Own record", About: "Returns the track record of the owner of the credential.",
			Permission: "read", Scope: grant.ProfileRead, Run: s.reads.ToolRecord,
		},
		{
			Name: "search_markets", Title: "Search",
			About: "Searches markets of the primary venue by text and lane. Returns pages, largest volume first. yesBps is the price of YES " +
				"in basis points (6550 is 65.5 cents), yesPct the same in percent.",
			Run: s.reads.ToolSearch,
		},
		{
			Name: "set_live_signal", Title: "Set overlay",
			About: "Shows a market in the overlay of the owner's live stream, or clears the overlay. dryRun returns the " +
				"result without a change.",
			Permission: "broadcast", Scope: grant.BroadcastGoLive, Writes: true, Repeatable: true, Run: s.live.ToolOverlay,
		},
		{
			Name: "submit_signal", Title: "File a call",
			About: "Files a call for the owner of the credential. Each operator has one call per market, and it is final. " +
				"Prices are those of the side called, in basis points: YES at 65.5 cents is 6550, NO of the same market 3450. " +
				"dryRun validates the request and stores nothing.",
			Permission: "signal", Scope: grant.SignalCreate, Writes: true, Run: s.filing.ToolFile,
		},
		{
			Name: "submit_signal_event", Title: "Add to a call",
			About: "Adds a take, note, reaffirmation, confidence or share to a call of the owner of the credential. " +
				"dryRun validates the request and stores nothing.",
			Permission: "signal", Scope: grant.SignalCreate, Writes: true, Run: s.filing.ToolEvent,
		},
	}
}
