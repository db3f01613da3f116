// Package config turns the environment into a struct and reports every mistake
// at once.
//
// Fields carry `env:"NAME"` tags, with envDefault, envSeparator and envPrefix
// of caarlos0/env. Any NAME may be given as NAME_FILE, a path whose content
// is the value. A struct, or a struct inside it, that has a Check(*Report)
// method adds checks of its own. Messages name the setting and never show its
// value. The package is the only one that reads the environment; main decides
// what to do with mistakes (print them, exit 2).
package config
