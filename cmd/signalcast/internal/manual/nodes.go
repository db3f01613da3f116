package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// node is a command or a group of commands, with the words that can follow it on the command line.
type node struct {
	path  string // as "market search"; empty for the program itself
	help  string
	words []word
}

// word is a subcommand, a flag, or an allowed value of an argument.
type word struct {
	text, help string
	flag       bool
	value      bool     // the flag takes a value
	choices    []string // allowed values of the flag; empty if any value is allowed
}

// nodes returns the program and its visible commands, parents before their children.
func nodes(of *kong.Application) (out []node) {
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		p := node{path: path, help: n.Help}
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

// flags returns the flags of a command and of its parents, each name once.
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
