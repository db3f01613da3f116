package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// place is one node of the commands, with the words that may follow it.
type place struct {
	path  string // "market search"; empty is the program
	help  string
	words []word
}

// word is a command or a flag that can come next.
type word struct {
	text, help string
	flag       bool
	value      bool     // the flag takes one
	choices    []string // of its value; empty: anything
}

// places lists every node, the program first.
func places(of *kong.Application) (out []place) {
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		p := place{path: path, help: n.Help}
		for _, c := range n.Children {
			if c.Type == kong.CommandNode && !c.Hidden {
				p.words = append(p.words, word{text: c.Name, help: c.Help})
			}
		}
		if len(n.Positional) > 0 {
			for _, choice := range choices(n.Positional[len(n.Positional)-1].Enum) {
				p.words = append(p.words, word{text: choice})
			}
		}
		for _, f := range flags(n) {
			p.words = append(p.words, word{
				text: "--" + f.Name, help: f.Help, flag: true, value: !f.IsBool(), choices: choices(f.Enum),
			})
		}
		out = append(out, p)
		for _, c := range n.Children {
			if c.Type == kong.CommandNode && !c.Hidden {
				walk(c, strings.TrimSpace(path+" "+c.Name))
			}
		}
	}
	walk(of.Node, "")
	return out
}

// flags are those of a node and of all above it.
func flags(n *kong.Node) (out []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if !slices.ContainsFunc(out, func(o *kong.Flag) bool { return o.Name == f.Name }) {
				out = append(out, f)
			}
		}
	}
	return out
}

func choices(enum string) (out []string) {
	for c := range strings.SplitSeq(enum, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}
