package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// The ports are those of compose.yaml.
const (
	hub   = "http://127.0.0.1:8080"
	api   = "http://127.0.0.1:8081"
	clock = "http://127.0.0.1:8082"
)

// use runs on the network of the engine: it waits until all is well, signs somebody in,
// files a call, reads it back, and files it in vain once more.
func use(ctx context.Context, dir, settings string) error {
	idp, err := provider(dir)
	if err != nil {
		return err
	}
	defer idp.Stop(context.Background(), syscall.SIGTERM, 5*time.Second)
	c := client.New()
	defer c.Close()
	if err := wellAll(ctx, c); err != nil {
		return err
	}
	secret, err := setting(settings, "ADMIN_SECRET")
	if err != nil {
		return err
	}
	market, err := c.Market(ctx, hub, client.Admin(secret), "Will all of it come up?", 5000)
	if err != nil {
		return fmt.Errorf("make a market: %w", err)
	}
	login, err := c.Login(ctx, "http://"+issuer, "compose")
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if _, _, err := c.SignIn(ctx, hub, login); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	key, err := c.Mint(ctx, hub, login, "compose")
	if err != nil {
		return fmt.Errorf("mint a key: %w", err)
	}
	call := client.Call{Market: market, Yes: true, Price: 5000}
	var filed struct{ ID string }
	if err := c.File(ctx, hub, key.Key, call).Into(http.StatusOK, &filed); err != nil {
		return fmt.Errorf("file a call: %w", err)
	}
	var twice struct{ Error, ID string }
	if err := c.File(ctx, hub, key.Key, call).Into(http.StatusConflict, &twice); err != nil {
		return fmt.Errorf("file it again: %w", err)
	}
	if filed.ID == "" || twice.ID != filed.ID || twice.Error != "already_predicted" {
		return fmt.Errorf("the call is %q, and then %+v", filed.ID, twice)
	}
	fmt.Printf("         call %s is in the ledger, once\n", filed.ID)
	return nil
}

// provider starts the provider of identities where containers find it.
func provider(dir string) (*localdb.Child, error) {
	cmd := exec.Command(filepath.Join(dir, "bin", "devidp"))
	cmd.Env = []string{
		"ENV=development", "HTTP_ADDR=" + issuer, "PUBLIC_URL=http://" + issuer, "RETURN_TO=" + hub, "IDP_STATE_DIR=" + filepath.Join(dir, "idp"),
	}
	cmd.Stderr = os.Stderr
	return localdb.StartChild(cmd, syscall.SIGKILL)
}

// wellAll waits until every service is ready, and the engine finds all five parts healthy.
func wellAll(ctx context.Context, c *client.Client) error {
	for _, url := range []string{hub, api, clock} {
		well, err := frame.Until(ctx, 2*time.Minute, func() (bool, error) {
			return c.Do(ctx, client.Request{URL: url + "/readyz"}).Status == http.StatusOK, nil
		})
		if err != nil {
			return err
		}
		if !well {
			return fmt.Errorf("%s is not ready", url)
		}
	}
	var last string
	well, err := frame.Until(ctx, 2*time.Minute, func() (bool, error) {
		out, err := exec.CommandContext(ctx, "docker", "ps", "--filter", "health=healthy", "--format", "{{.Names}}").Output()
		last = string(out)
		return strings.Count(last, "\n") == 5, err
	})
	if err == nil && !well {
		err = fmt.Errorf("healthy are %q, not five parts", last)
	}
	return err
}

// setting is one line of the file that env.sh made.
func setting(file, name string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("%s names no %s", file, name)
}
