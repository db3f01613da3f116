package httpapi

import (
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp"
)

// tools returns the table of tools: what a tool is called, what it needs, and the function of the audience that runs it.
func (s *Server) tools() mcp.Tools {
	return mcp.Tools{
		{
			Name: "get_market", Title: "Market", About: "One market: price, status, outcome, and what operators say of it.",
			Run: s.stations.ToolMarket,
		},
		{
			Name: "get_operator", Title: "Operator", About: "One operator's record, or without a handle the leaderboard.",
			Run: s.reads.ToolOperator,
		},
		{Name: "get_program", Title: "Programme", About: "What is on the air and what comes next.", Run: s.live.ToolProgram},
		{
			Name: "get_signal", Title: "Call", About: "One call with its history and, once there is one, its result.",
			Run: s.reads.ToolSignal,
		},
		{
			Name: "list_signals", Title: "Calls",
			About: "The newest calls, those that beat the crowd, or the open ones with their live mark.",
			Run:   s.reads.ToolSignals,
		},
		{
			Name: "my_record", Title: "Own record", About: "The record of the credential's owner.",
			Permission: "read", Scope: grant.ProfileRead, Run: s.reads.ToolRecord,
		},
		{
			Name: "search_markets", Title: "Search", About: "Markets by words and lane, the largest first, in pages.",
			Run: s.reads.ToolSearch,
		},
		{
			Name: "set_live_signal", Title: "Signal over the picture",
			About:      "Puts a market over the owner's live picture, or takes it away. dryRun shows what would be set.",
			Permission: "broadcast", Scope: grant.BroadcastGoLive, Writes: true, Repeatable: true, Run: s.live.ToolOverlay,
		},
		{
			Name: "submit_signal", Title: "File a call",
			About: "Files the owner's call on a market. The first one is locked for ever. " +
				"dryRun checks everything and stores nothing.",
			Permission: "signal", Scope: grant.SignalCreate, Writes: true, Run: s.filing.ToolFile,
		},
		{
			Name: "submit_signal_event", Title: "Add to a call",
			About: "Adds a take, a note, a reaffirmation, a confidence or a share to the owner's own call. " +
				"dryRun checks everything and stores nothing.",
			Permission: "signal", Scope: grant.SignalCreate, Writes: true, Run: s.filing.ToolEvent,
		},
	}
}
