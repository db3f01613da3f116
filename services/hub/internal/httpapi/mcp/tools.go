package mcp

import (
	"context"
	"embed"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
)

// toolSchemas has the JSON schemas of each tool: <tool>.in.json for the arguments and <tool>.out.json for the result.
//
//go:embed tools/*.json
var toolSchemas embed.FS

// Tool describes an MCP tool and the function that runs it.
type Tool struct {
	Name, Title, About string
	Permission         string      // permission that an operator key needs; empty: none
	Scope              grant.Scope // scope that an app token needs; empty: none
	Writes, Repeatable bool        // Writes: the tool changes data; Repeatable: the tool is idempotent
	Run                func(context.Context, caller.Caller, httpx.Object) (any, error)

	arguments map[string]bool // set of argument names, read from In
	In, Out   json.RawMessage // schemas of arguments and result
}

// Tools is the list of tools, ordered by name. The first tool must not require a permission, because clients without a credential
// try it.
type Tools []*Tool

// find returns the tool with the given name, or nil.
func (all Tools) find(name string) *Tool {
	if i := slices.IndexFunc(all, func(t *Tool) bool { return t.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// allows reports whether the operator key or the app token of a caller permits a call of the tool. It is false for callers with
// another credential.
func (t *Tool) allows(who caller.Caller) bool {
	switch who.Kind {
	case caller.Key:
		return slices.Contains(who.Permissions, t.Permission)
	case caller.Token:
		return grant.ScopesOf(who).Has(t.Scope)
	}
	return false
}

// readSchemas reads the schemas of the tool. It panics if one is missing or invalid; this happens when the process starts.
func (t *Tool) readSchemas() {
	read := func(side string) json.RawMessage {
		raw, err := toolSchemas.ReadFile("tools/" + t.Name + "." + side + ".json")
		if err != nil {
			panic(err)
		}
		return raw
	}
	t.In, t.Out = read("in"), read("out")
	var shape struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(t.In, &shape); err != nil {
		panic(err)
	}
	t.arguments = make(map[string]bool, len(shape.Properties))
	for name := range shape.Properties {
		t.arguments[name] = true
	}
}

// description returns the entry of the tool in the SDK's tool list.
func (t *Tool) description() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.About, InputSchema: t.In, OutputSchema: t.Out,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: !t.Writes, IdempotentHint: t.Repeatable || !t.Writes, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}
}
