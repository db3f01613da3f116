package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// envCmd is the command env. It prints the addresses and secrets of a running stack as shell variables:
//
//	eval "$(go run ./deploy/local env)"
type envCmd struct {
	Dir string `default:".local" help:"State directory of the stack."`
}

// Run prints one export statement for each variable.
func (c *envCmd) Run() error {
	s, err := readStack(c.Dir)
	if err != nil {
		return err
	}
	return printEnv(os.Stdout, s)
}

func printEnv(out io.Writer, s stack) error {
	line := "export"
	for _, v := range [...][2]string{
		{"HUB", s.Hub},
		{"API", s.API},
		{"CLOCK", s.Clock},
		{"VENUES", s.Venues},
		{"IDP", s.IDP},
		{"ORIGIN", s.Origin},
		{"ADMIN_SECRET", s.AdminSecret},
		{"CRON_SECRET", s.CronSecret},
	} {
		line += " " + v[0] + "=" + quote(v[1])
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// quote returns s as one single-quoted word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
