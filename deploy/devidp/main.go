package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := server.FromEnv(os.Getenv, time.Now)
	if err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(2)
	}
	if err := server.Run(ctx, config, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(1)
	}
}
