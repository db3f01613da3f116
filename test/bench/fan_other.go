//go:build !linux

package main

import (
	"context"
	"errors"
)

// The fan-out needs what Linux has: epoll and any number of addresses of its own.
var errLinux = errors.New("the fan-out is measured on Linux alone")

func fanLoad(context.Context, []string) error     { return errLinux }
func limitServer(context.Context, []string) error { return errLinux }
