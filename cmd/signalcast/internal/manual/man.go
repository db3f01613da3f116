package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// Man is the command `signalcast man`.
type Man struct{}

// Run writes the man page in roff format. `signalcast man | man -l -` displays it.
func (m *Man) Run(app *kong.Application, s *verbs.Streams) error {
	if err := s.Only("man writes the manual"); err != nil {
		return err
	}
	_, err := io.WriteString(s.Out, page(app))
	return err
}

// Help is the command `signalcast help`. The program replaces it by the flag --help before it parses the arguments.
type Help struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run does nothing.
func (*Help) Run() error { return nil }

// codes lists the exit codes of the program for the man page.
var codes = []struct{ code, means string }{
	{"0", "Done."},
	{"1", "A service refused the request, an endpoint did not accept a test delivery, a record differs, or a server does not conform."},
	{"2", "The command line or a setting is wrong, or a file cannot be read or written."},
	{"3", "A service cannot be reached or does not answer, a part of it is unavailable, or limits prevented checks of conform."},
}

// environment lists the environment variables that the man page describes.
var environment = []struct{ name, means string }{
	{"SIGNALCAST_HUB", "Address of the hub."},
	{"SIGNALCAST_API", "Address of the api."},
	{"SIGNALCAST_KEY", "The operator key."},
	{"SIGNALCAST_ADMIN_SECRET", "The admin secret, for admin."},
	{"NO_COLOR", "If set, tables have no colors."},
	{"XDG_CONFIG_HOME", "Folder of signalcast/config.json. Default: ~/.config."},
}

// page returns the man page in roff format.
func page(app *kong.Application) string {
	var b strings.Builder
	name := roff(app.Name)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"\" \"Signalcast\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", name, roff(strings.TrimSuffix(lower(app.Help), ".")))
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
	b.WriteString(".SH FLAGS OF ALL COMMANDS\n")
	for _, f := range app.Flags {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagUsage(f)), roff(f.Help))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, e := range environment {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e.name, roff(e.means))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range codes {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", c.code, roff(c.means))
	}
	b.WriteString(".SH FILES\n.TP\n.I ~/.config/signalcast/config.json\n")
	b.WriteString(roff("Addresses and keys that login stores; mode 0600.") + "\n")
	return b.String()
}

// usage returns the usage line of a command: its name and its arguments, without flags. Optional arguments are in brackets.
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

// roff escapes the text s, so that the program roff prints it literally.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", `"`, `\(dq`, "…", "...", "`", `\(ga`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
