package main

import (
	"errors"
	"time"

	"github.com/alecthomas/kong"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/conform"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/manual"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/record"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// commands declares the commands of the program for kong.
type commands struct {
	Login      verbs.Login       `cmd:"" help:"Store a key, or create one with an identity token. Asks on a terminal, otherwise reads the standard input."`
	Logout     verbs.Logout      `cmd:"" help:"Delete the stored key. The key stays valid."`
	WhoAmI     verbs.WhoAmI      `cmd:"" name:"whoami" help:"Show the owner of the key."`
	Keys       verbs.Keys        `cmd:"" help:"List, create and revoke operator keys."`
	Call       verbs.Call        `cmd:"" help:"File a call. The first call on a market is final."`
	Calls      verbs.Calls       `cmd:"" help:"List calls."`
	Events     verbs.Events      `cmd:"" help:"Show the history of a call, or add an event to it."`
	Market     verbs.Market      `cmd:"" help:"Search and show markets."`
	Board      verbs.Board       `cmd:"" help:"Show a leaderboard of operators."`
	Signal     verbs.Signal      `cmd:"" help:"Show calls."`
	Receipt    verbs.Receipt     `cmd:"" help:"Show a call with its history and the outcome of its market."`
	Record     record.Commands   `cmd:"" help:"Download and verify records of operators."`
	Watch      verbs.Watch       `cmd:"" help:"Follow the live feed."`
	Follow     verbs.Follow      `cmd:"" help:"Follow an operator. Reads the identity token from the standard input."`
	Live       verbs.Live        `cmd:"" help:"Control your live session and your overlay."`
	Webhook    verbs.Webhook     `cmd:"" help:"Manage webhooks, and forward events to this machine."`
	Signer     verbs.Signer      `cmd:"" help:"Create, register and revoke signing keys."`
	Message    verbs.Message     `cmd:"" help:"Sign, verify and submit messages."`
	Resolve    verbs.Resolve     `cmd:"" help:"Propose the outcome of a market that you created."`
	Admin      verbs.Admin       `cmd:"" help:"Administer markets."`
	API        verbs.API         `cmd:"" name:"api" help:"Send a request to any route."`
	Conform    conform.Command   `cmd:"" help:"Check whether a server conforms to the protocol. The exit code is 1 if a check fails."`
	Completion manual.Completion `cmd:"" help:"Print the completion script of a shell."`
	Man        manual.Man        `cmd:"" help:"Print the man page: signalcast man | man -l -"`
	Version    manual.Version    `cmd:"" help:"Print the version of the program."`

	HelpOf manual.Help `cmd:"" name:"help" help:"Show the help of a command, like --help."`

	show.Format
	Timeout     time.Duration    `help:"Time limit of a request with its repetitions, 100ms to 1h. Default: 30s." placeholder:"DURATION"`
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version, the commit and the Go version."`
}

// Help returns the text that the general help shows after the description.
func (*commands) Help() string {
	return "Flags may be before or after the command. Most commands also have --hub, --api and --key: `signalcast help COMMAND` lists " +
		"the flags of a command."
}

// check returns an error if a flag of all commands has an invalid value.
func (c *commands) check() error {
	if c.Timeout != 0 && (c.Timeout < 100*time.Millisecond || c.Timeout > time.Hour) {
		return errors.New("--timeout must be 100ms to 1h")
	}
	return c.Format.Check()
}

// lanes lists the values of --lane for lists.
const lanes = "POLITICS,CRYPTO,SPORT,CULTURE,MUSIC,TECH,ECONOMY,SCIENCE,WORLD,ENTERTAINMENT"
