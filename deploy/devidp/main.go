package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/server"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
)

func main() {
	config, err := config.Load[server.Config]()
	if err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(2)
	}
	config.Now = time.Now
	if len(os.Args) > 1 && os.Args[1] == "health" {
		err = httpx.Probe(context.Background(), config.Addr)
	} else {
		err = server.Run(context.Background(), config, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(1)
	}
}
