package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// Completion is the command `signalcast completion`.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run writes the completion script of the shell. The script contains all words and starts no program.
func (c *Completion) Run(app *kong.Application, s *verbs.Streams) error {
	if err := s.Only("completion writes a script"); err != nil {
		return err
	}
	at := nodes(app)
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

// bash returns the completion script for bash. The script finds the longest known command among the typed words. After a flag
// with fixed choices it offers these choices, otherwise the subcommands and flags of the command. Without a match, bash offers
// file names.
func bash(name string, at []node) string {
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
				fmt.Fprintf(&b, "    '%s %s') words='%s' ;;\n", leadingSpace(p.path), w.text, strings.Join(w.choices, " "))
			}
		}
	}
	b.WriteString("    *) case \"$path\" in\n")
	for _, p := range at {
		var texts []string
		for _, w := range p.words {
			texts = append(texts, w.text)
		}
		fmt.Fprintf(&b, "      '%s') words='%s' ;;\n", leadingSpace(p.path), strings.Join(texts, " "))
	}
	b.WriteString("    esac ;;\n  esac\n")
	fmt.Fprintf(&b, "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$here\")\n}\ncomplete -o default -F %s %s\n", fn, name)
	return b.String()
}

// leadingSpace returns path with a space before it, or "" for an empty path. In the script, the shell variable named path
// holds such a value.
func leadingSpace(path string) string {
	if path == "" {
		return ""
	}
	return " " + path
}

// bashPath returns the pattern with which the script recognizes a command. It consists of leadingSpace of the parent command,
// a space, and the last word of the command.
func bashPath(path string) string {
	parent, last := "", path
	if i := strings.LastIndex(path, " "); i >= 0 {
		parent, last = path[:i], path[i+1:]
	}
	return leadingSpace(parent) + " " + last
}

// fish returns the completion script for fish: one line for each word, with the condition under which fish offers it.
func fish(name string, at []node) string {
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

// quoted returns s as a string literal of the fish shell.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
