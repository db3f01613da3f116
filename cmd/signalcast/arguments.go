package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// mostTyped is more characters than any argument has that a service takes.
const mostTyped = 4096

var negative = regexp.MustCompile(`^-[0-9.]`)

// look checks the arguments before they are parsed. It refuses empty values, arguments that are too long, and control
// characters. A number below zero is the value of the flag before it, not a flag.
func look(app *kong.Application, args []string) (out []string, err error) {
	valued, paths := flagsOf(app.Node)
	flag, rest := "", false // the flag that waits for its value; nothing is a flag any more
	for _, arg := range args {
		name, value := flag, arg
		flag = ""
		switch n := utf8.RuneCountInString(arg); {
		case n > mostTyped:
			return nil, fmt.Errorf("%s has %d characters, and nothing here takes more than %d", cmp.Or(name, "an argument"), n, mostTyped)
		case rest || name != "":
		case arg == "--":
			rest = true
		case negative.MatchString(arg):
			return nil, fmt.Errorf("%s stands where no number below zero can", arg)
		case len(arg) > 1 && arg[0] == '-':
			whole, joined := false, ""
			if name, joined, whole = strings.Cut(arg, "="); !whole {
				if valued[name] {
					flag = name
				}
				out = append(out, arg)
				continue
			}
			value = joined
		}
		switch {
		case value == "" && (name == "" || paths[name]):
			return nil, fmt.Errorf("%s is empty", cmp.Or(name, "an argument"))
		case name == "" && strings.ContainsFunc(value, unicode.IsControl):
			return nil, errors.New("an argument has a character that cannot be seen")
		case name != "" && value == arg && negative.MatchString(arg) && strings.HasPrefix(name, "--"):
			out[len(out)-1] += "=" + arg
		default:
			out = append(out, arg)
		}
	}
	return out, nil
}

// flagsOf returns which flags take a value, and which of these the name of a file. A flag has one meaning in all commands.
func flagsOf(n *kong.Node) (valued, paths map[string]bool) {
	valued, paths = map[string]bool{}, map[string]bool{}
	_ = kong.Visit(n, func(v kong.Visitable, next kong.Next) error {
		if node, ok := v.(*kong.Node); ok {
			for _, f := range node.Flags {
				for _, name := range []string{"--" + f.Name, "-" + string(f.Short)} {
					valued[name], paths[name] = !f.IsBool(), f.Tag.Type == "path"
				}
			}
		}
		return next(nil)
	})
	return valued, paths
}

// command is the command that the arguments begin with, as far as there is one.
func command(app *kong.Application, args []string) string {
	at, words := app.Node, []string{app.Name}
	for _, arg := range args {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == arg && n.Type == kong.CommandNode })
		if i < 0 {
			break
		}
		at, words = at.Children[i], append(words, arg)
	}
	return strings.Join(words, " ")
}
