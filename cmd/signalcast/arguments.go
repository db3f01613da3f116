package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// maxArgument is the maximum length of an argument in characters.
const maxArgument = 4096

var negative = regexp.MustCompile(`^-[0-9.]`)

// checkArguments checks the arguments before they are parsed and returns them. It returns an error for an argument of more
// than maxArgument characters, for an empty positional argument, file name or address, and for a control character in a
// positional argument. It also returns an error for a negative number before "--" that is not the value of a flag. It joins a
// long flag and its negative value to --flag=-N.
func checkArguments(app *kong.Application, args []string) (out []string, err error) {
	valued, required := flagsOf(app.Node)
	flag, rest := "", false // flag whose value is the next argument; whether "--" was read
	for _, arg := range args {
		name, value := flag, arg
		flag = ""
		switch n := utf8.RuneCountInString(arg); {
		case n > maxArgument:
			return nil, fmt.Errorf("%s has %d characters; the limit is %d", cmp.Or(name, "an argument"), n, maxArgument)
		case rest || name != "":
		case arg == "--":
			rest = true
		case negative.MatchString(arg):
			return nil, fmt.Errorf("%s: a negative number is not allowed here", arg)
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
		case value == "" && (name == "" || required[name]):
			return nil, fmt.Errorf("%s must not be empty", cmp.Or(name, "an argument"))
		case name == "" && strings.ContainsFunc(value, unicode.IsControl):
			return nil, errors.New("an argument contains a control character; remove it")
		case name != "" && value == arg && negative.MatchString(arg) && strings.HasPrefix(name, "--"):
			out[len(out)-1] += "=" + arg
		default:
			out = append(out, arg)
		}
	}
	return out, nil
}

// flagsOf returns two sets of flag names. The set valued contains the flags that take a value. The set required contains the
// flags whose value must not be empty, because the value is a file name or an address in at least one command. A flag must
// take a value in all commands or in none.
func flagsOf(n *kong.Node) (valued, required map[string]bool) {
	valued, required = map[string]bool{}, map[string]bool{}
	_ = kong.Visit(n, func(v kong.Visitable, next kong.Next) error {
		if node, ok := v.(*kong.Node); ok {
			for _, f := range node.Flags {
				for _, name := range []string{"--" + f.Name, "-" + string(f.Short)} {
					valued[name] = !f.IsBool()
					required[name] = required[name] || f.Tag.Type == "path" || f.PlaceHolder == "FILE" || f.PlaceHolder == "URL"
				}
			}
		}
		return next(nil)
	})
	return valued, required
}

// decodeInt sets target to the whole number in the next argument. The text of its error contains the tag "bounds" of the flag.
func decodeInt(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 0, strconv.IntSize)
	if err != nil {
		return errors.New(strings.TrimSpace("must be a whole number " + ctx.Value.Tag.Get("bounds")))
	}
	target.SetInt(n)
	return nil
}

// command returns the name of the program and the longest known command at the start of the arguments, for example "signalcast
// market show".
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
