package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// Man is `signalcast man`.
type Man struct{}

// Run writes the page: signalcast man | man -l -
func (m *Man) Run(app *kong.Application, s *verbs.Streams) error {
	_, err := io.WriteString(s.Out, page(app))
	return err
}

// codes are the exit codes, as main has them.
var codes = []struct{ code, means string }{
	{"0", "Done."},
	{"1", "A service said no, a record differs, or a server does not conform."},
	{"2", "The command line or a setting is wrong, or a file cannot be read or written."},
	{"3", "A service cannot be reached, or a part of it is unavailable; for conform, limits kept checks from being tried."},
}

// environment are the variables that are read.
var environment = []struct{ name, means string }{
	{"SIGNALCAST_HUB", "Address of the hub."},
	{"SIGNALCAST_API", "Address of the api."},
	{"SIGNALCAST_KEY", "The operator key."},
	{"SIGNALCAST_ADMIN_SECRET", "The admin secret, for admin."},
	{"XDG_CONFIG_HOME", "Where signalcast/config.json stands; else ~/.config."},
}

func page(app *kong.Application) string {
	var b strings.Builder
	name := roff(app.Name)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"\" \"Signalcast\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), name, roff(strings.TrimSuffix(lower(app.Help), ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I command\n[\\fIflags\\fR]\n.SH COMMANDS\n", name)
	for _, leaf := range app.Leaves(true) {
		fmt.Fprintf(&b, ".SS \"%s\"\n%s\n", roff(usage(leaf)), roff(leaf.Help))
		for _, p := range leaf.Positional {
			if p.Help != "" {
				fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(p.Name)), roff(p.Help))
			}
		}
		for _, f := range leaf.Flags {
			if !f.Hidden {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagUsage(f)), roff(f.Help))
			}
		}
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, e := range environment {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e.name, roff(e.means))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range codes {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", c.code, roff(c.means))
	}
	b.WriteString(".SH FILES\n.TP\n.I ~/.config/signalcast/config.json\n" + roff("What the last login left, of mode 0600.") + "\n")
	return b.String()
}

// usage is how a command is written, without its flags.
func usage(n *kong.Node) string {
	text := n.Path()
	for _, p := range n.Positional {
		word := strings.ToUpper(p.Name)
		if p.IsSlice() {
			word += "..."
		}
		if !p.Required {
			word = "[" + word + "]"
		}
		text += " " + word
	}
	return text
}

func flagUsage(f *kong.Flag) string {
	if f.IsBool() {
		return "--" + f.Name
	}
	holder := f.PlaceHolder
	if holder == "" {
		holder = strings.ToUpper(f.Name)
	}
	return "--" + f.Name + "=" + holder
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// roff is a text that means itself: no escape, no macro, hyphens as they are typed.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", `"`, `\(dq`, "…", "...", "`", `\(ga`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
