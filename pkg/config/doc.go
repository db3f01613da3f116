// Package config reads environment variables into a struct and reports all invalid settings at once.
//
// Fields have `env:"NAME"` tags and may use envDefault, envSeparator and envPrefix of caarlos0/env. NAME_FILE may be set instead
// of NAME: it is the path of a file that contains the value. A struct or nested struct with a method Check(*Report) can add
// checks. Error texts contain the name of a setting and never its value. The caller of Load decides how to report errors.
package config
