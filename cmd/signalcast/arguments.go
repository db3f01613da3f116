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
	"time"
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
	args = commandFirst(app, args)
	valued, required := flagsOf(commandOf(app.Node, args))
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

// flagsOf returns two sets of names of flags of the given commands and of their parents. The set valued contains the flags that
// take a value in all of the commands that have them. The set required contains the flags whose value must not be empty, because
// it is a file name or an address.
func flagsOf(commands ...*kong.Node) (valued, required map[string]bool) {
	valued, required = map[string]bool{}, map[string]bool{}
	for _, n := range commands {
		for _, f := range slices.Concat(n.AllFlags(false)...) {
			for _, name := range []string{"--" + f.Name, "-" + string(f.Short)} {
				other, known := valued[name]
				valued[name] = !f.IsBool() && (other || !known)
				required[name] = required[name] || f.Tag.Type == "path" || f.PlaceHolder == "FILE" || f.PlaceHolder == "URL"
			}
		}
	}
	return valued, required
}

// commandFirst returns the arguments with the flags before the command, and their values, moved after the command. Flags that
// take a value in some commands only are moved without the next argument.
func commandFirst(app *kong.Application, args []string) []string {
	valued, _ := flagsOf(app.Leaves(false)...)
	var words, flags []string
	i, at := 0, app.Node
	for ; i < len(args); i++ {
		if arg := args[i]; len(arg) > 1 && arg[0] == '-' && arg != "--" {
			flags = append(flags, arg)
			if valued[arg] && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
			continue
		}
		next := childOf(at, args[i])
		if next == nil {
			break
		}
		at, words = next, append(words, args[i])
	}
	return slices.Concat(words, flags, args[i:])
}

// childOf returns the subcommand of n with the given name, or nil.
func childOf(n *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == name && c.Type == kong.CommandNode })
	if i < 0 {
		return nil
	}
	return n.Children[i]
}

// commandOf returns the longest known command at the start of the arguments.
func commandOf(at *kong.Node, args []string) *kong.Node {
	for _, arg := range args {
		next := childOf(at, arg)
		if next == nil {
			break
		}
		at = next
	}
	return at
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

// decodeTime sets target, a time.Time or a pointer to one, to the time in the next argument, in the form of RFC 3339.
func decodeTime(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("must be a time with its zone, such as 2027-06-01T00:00:00Z")
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	target.Set(reflect.ValueOf(t))
	return nil
}

// decodeDuration sets target to the duration in the next argument.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration with its unit, such as 500ms, 30s or 5m")
	}
	target.SetInt(int64(d))
	return nil
}

// command returns the name of the program and the longest known command at the start of the arguments, for example "signalcast
// market show".
func command(app *kong.Application, args []string) string {
	n := commandOf(app.Node, commandFirst(app, args))
	if n == app.Node {
		return app.Name
	}
	return app.Name + " " + n.Path()
}
