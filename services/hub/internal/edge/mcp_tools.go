package edge

import (
	"context"
	"embed"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// toolSchemas are what each tool takes and gives, written by hand: <tool>.in.json and
// <tool>.out.json.
//
//go:embed mcp/*.json
var toolSchemas embed.FS

// rawJSON is a body that is encoded already.
type rawJSON = json.RawMessage

// agentTool is one thing that an agent can do.
type agentTool struct {
	name, title, about string
	permission         string      // of an operator key; empty: for everybody
	scope              grant.Scope // of an app token
	writes, repeatable bool        // repeatable: done twice is as done once
	run                func(context.Context, caller.Caller, web.Object) (any, error)

	takes   map[string]bool // the names of its arguments
	in, out rawJSON
}

// agentTools are the tools in the order of their names, the first for everybody: what
// clients try out without a credential is the first one.
type agentTools []*agentTool

func (s *server) agentTools() agentTools {
	all := agentTools{
		{name: "get_market", title: "Market", about: "One market: price, status, outcome, and what operators say of it.", run: s.toolMarket},
		{name: "get_operator", title: "Operator", about: "One operator's record, or without a handle the leaderboard.", run: s.toolOperator},
		{name: "get_program", title: "Programme", about: "What is on the air and what comes next.", run: s.toolProgram},
		{name: "get_signal", title: "Call", about: "One call with its history and, once there is one, its result.", run: s.toolSignal},
		{name: "list_signals", title: "Calls", about: "The newest calls, those that beat the crowd, or the open ones with their live mark.", run: s.toolSignals},
		{
			name: "my_record", title: "Own record", about: "The record of the credential's owner.",
			permission: "read", scope: grant.ProfileRead, run: s.toolRecord,
		},
		{name: "search_markets", title: "Search", about: "Markets by words and lane, the largest first, in pages.", run: s.toolSearch},
		{
			name: "set_live_signal", title: "Signal over the picture", about: "Puts a market over the owner's live picture, or takes it away. dryRun shows what would be set.",
			permission: "broadcast", scope: grant.BroadcastGoLive, writes: true, repeatable: true, run: s.toolOverlay,
		},
		{
			name: "submit_signal", title: "File a call", about: "Files the owner's call on a market. The first one is locked for ever. dryRun checks everything and stores nothing.",
			permission: "signal", scope: grant.SignalCreate, writes: true, run: s.toolFile,
		},
		{
			name: "submit_signal_event", title: "Add to a call", about: "Adds a take, a note, a reaffirmation, a confidence or a share to the owner's own call. dryRun checks everything and stores nothing.",
			permission: "signal", scope: grant.SignalCreate, writes: true, run: s.toolEvent,
		},
	}
	for _, t := range all {
		t.readSchemas()
	}
	return all
}

// find gives nil for what is no tool.
func (all agentTools) find(name string) *agentTool {
	if i := slices.IndexFunc(all, func(t *agentTool) bool { return t.name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// allows reports whether a credential may call the tool.
func (t *agentTool) allows(who caller.Caller) bool {
	switch who.Kind {
	case caller.Key:
		return slices.Contains(who.Permissions, t.permission)
	case caller.Token:
		return scopesOf(who).Has(t.scope)
	}
	return false
}

// readSchemas panics where a file is missing or broken, at start and in front of nobody.
func (t *agentTool) readSchemas() {
	read := func(side string) rawJSON {
		raw, err := toolSchemas.ReadFile("mcp/" + t.name + "." + side + ".json")
		if err != nil {
			panic(err)
		}
		return raw
	}
	t.in, t.out = read("in"), read("out")
	var shape struct {
		Properties map[string]rawJSON `json:"properties"`
	}
	if err := json.Unmarshal(t.in, &shape); err != nil {
		panic(err)
	}
	t.takes = make(map[string]bool, len(shape.Properties))
	for name := range shape.Properties {
		t.takes[name] = true
	}
}

// described is the tool as the list shows it.
func (t *agentTool) described() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: t.in, OutputSchema: t.out,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: !t.writes, IdempotentHint: t.repeatable || !t.writes, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}
}
