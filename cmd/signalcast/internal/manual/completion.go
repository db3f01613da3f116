package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// Completion is `signalcast completion`.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run writes the script. It sends no requests: all words are in it.
func (c *Completion) Run(app *kong.Application, s *verbs.Streams) error {
	at := places(app)
	var text string
	switch c.Shell {
	case "bash":
		text = bash(app.Name, at)
	case "zsh":
		text = "#compdef " + app.Name + "\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app.Name, at)
	default:
		text = fish(app.Name, at)
	}
	_, err := io.WriteString(s.Out, text)
	return err
}

// bash finds the command that was typed, the longest that is known, and offers what
// stands behind it; behind a flag with choices those; and names of files else.
func bash(name string, at []place) string {
	var b strings.Builder
	fn := "_" + strings.ReplaceAll(name, "-", "_")
	fmt.Fprintf(&b, "# Completion of %s for bash. Written by `%s completion bash`.\n%s() {\n", name, name, fn)
	b.WriteString("  local here=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" path=\"\" word words=\"\"\n")
	b.WriteString("  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$path $word\" in\n")
	for _, p := range at[1:] {
		fmt.Fprintf(&b, "      '%s') path=' %s' ;;\n", bashPath(p.path), p.path)
	}
	b.WriteString("    esac\n  done\n  case \"$path $before\" in\n")
	for _, p := range at {
		for _, w := range p.words {
			if len(w.choices) > 0 {
				fmt.Fprintf(&b, "    '%s %s') words='%s' ;;\n", spaced(p.path), w.text, strings.Join(w.choices, " "))
			}
		}
	}
	b.WriteString("    *) case \"$path\" in\n")
	for _, p := range at {
		var texts []string
		for _, w := range p.words {
			texts = append(texts, w.text)
		}
		fmt.Fprintf(&b, "      '%s') words='%s' ;;\n", spaced(p.path), strings.Join(texts, " "))
	}
	b.WriteString("    esac ;;\n  esac\n")
	fmt.Fprintf(&b, "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$here\")\n}\ncomplete -o default -F %s %s\n", fn, name)
	return b.String()
}

// spaced is a path as the script keeps it: with a space before it, or nothing.
func spaced(path string) string {
	if path == "" {
		return ""
	}
	return " " + path
}

// bashPath is how a path and its next word meet in the script.
func bashPath(path string) string {
	above, last := "", path
	if i := strings.LastIndex(path, " "); i >= 0 {
		above, last = path[:i], path[i+1:]
	}
	return spaced(above) + " " + last
}

// fish has a line for every word, with the condition under which it is offered.
func fish(name string, at []place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Completion of %s for fish. Written by `%s completion fish`.\n", name, name)
	for _, p := range at {
		var commands []string
		for _, w := range p.words {
			if !w.flag && w.help != "" {
				commands = append(commands, w.text)
			}
		}
		under := "__fish_use_subcommand"
		if p.path != "" {
			var all []string
			for part := range strings.FieldsSeq(p.path) {
				all = append(all, "__fish_seen_subcommand_from "+part)
			}
			under = strings.Join(all, "; and ")
			if len(commands) > 0 {
				under += "; and not __fish_seen_subcommand_from " + strings.Join(commands, " ")
			}
		}
		for _, w := range p.words {
			line := fmt.Sprintf("complete -c %s -n %s", name, quoted(under))
			switch {
			case w.flag && w.value:
				line += " -l " + strings.TrimPrefix(w.text, "--") + " -r"
			case w.flag:
				line += " -l " + strings.TrimPrefix(w.text, "--")
			default:
				line += " -f -a " + quoted(w.text)
			}
			if len(w.choices) > 0 {
				line += " -f -a " + quoted(strings.Join(w.choices, " "))
			}
			if w.help != "" {
				line += " -d " + quoted(w.help)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// quoted is a text as fish reads it literally.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
