//go:build !linux

package main

import (
	"context"
	"errors"
)

// fanLoad needs what Linux has: epoll and any number of addresses of its own.
func fanLoad(context.Context, []string) error {
	return errors.New("the load of the fan-out runs on Linux alone")
}
