package shipping

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/container"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	// releaseEnv enables TestRelease. Its value is the directory of the release files.
	releaseEnv = "RELEASE_DIR"
	sdkModule  = "github.com/signalcast/signalcast/sdk/go"
)

// artefacts are the files of a release.
type artefacts struct {
	dir, version string
	programs     map[string][]byte // content of each program by OS_ARCH/NAME
}

func (a artefacts) read(t *testing.T, name string) []byte {
	t.Helper()
	return []byte(stack.ReadFile(t, filepath.Join(a.dir, name)))
}

// TestRelease checks that a release directory contains every file and that each file is correct. Run it with `make
// release release-test`.
func TestRelease(t *testing.T) {
	a := artefacts{dir: os.Getenv(releaseEnv), programs: map[string][]byte{}}
	if a.dir == "" {
		t.Skip("RELEASE_DIR is not set; run: make release release-test")
	}
	sums := string(a.read(t, "SHA256SUMS"))
	found := regexp.MustCompile(`(?m)  signalcast_(v\S+)_linux_amd64\.tar\.gz$`).FindStringSubmatch(sums)
	if found == nil {
		t.Fatalf("SHA256SUMS does not list the programs for linux_amd64:\n%s", sums)
	}
	a.version = found[1]
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		for name, content := range readArchive(t, a.read(t, "signalcast_"+a.version+"_"+platform+".tar.gz")) {
			a.programs[platform+"/"+name] = content
		}
	}
	t.Run("checksums", a.requireChecksums)
	t.Run("signature", a.requireSignature)
	t.Run("programs", a.requirePrograms)
	t.Run("SBOMs", a.requireSBOMs)
	t.Run("images", a.requireImages)
	t.Run("loaded images", a.requireLoadableImages)
	t.Run("TypeScript library", a.requireTypeScript)
	t.Run("Go library", a.requireGoModule)
}

// readArchive returns the content of each regular file in a gzip-compressed tar archive.
func readArchive(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return readTar(t, unzipped)
}

func readTar(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// requireChecksums requires that the directory contains exactly the expected files, each with its checksum in SHA256SUMS.
func (a artefacts) requireChecksums(t *testing.T) {
	want := []string{
		"signalcast-" + strings.TrimPrefix(a.version, "v") + ".tgz", "signalcast-sdk-go_" + a.version + ".zip",
		"SHA256SUMS", "SHA256SUMS.sig", "signalcast.pub",
	}
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		suffix := "_" + a.version + "_" + platform
		want = append(want, "signalcast"+suffix+".tar.gz")
		for _, program := range []string{"api", "clock", "hub", "signalcast"} {
			want = append(want, program+suffix+".cdx.json")
			if strings.HasPrefix(platform, "linux") && program != "signalcast" {
				want = append(want, program+suffix+".image.tar")
			}
		}
	}
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the release (-want +got):\n%s", diff)
	}
	lines := 0
	for line := range strings.Lines(string(a.read(t, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if is := sha256.Sum256(a.read(t, name)); hex.EncodeToString(is[:]) != sum {
			t.Errorf("the checksum of %s is %x; SHA256SUMS has %s", name, is, sum)
		}
		lines++
	}
	if lines != len(want)-3 { // without SHA256SUMS, its signature and the public key
		t.Errorf("SHA256SUMS lists %d files; want %d", lines, len(want)-3)
	}
}

// requireSignature requires that the signature is valid for SHA256SUMS, and invalid for a changed text.
func (a artefacts) requireSignature(t *testing.T) {
	block, _ := pem.Decode(a.read(t, "signalcast.pub"))
	if block == nil {
		t.Fatal("signalcast.pub is not in PEM form")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PublicKey)
	if err != nil || !ok {
		t.Fatalf("signalcast.pub is %T (%v); want an ECDSA key", parsed, err)
	}
	sums, signature := a.read(t, "SHA256SUMS"), a.read(t, "SHA256SUMS.sig")
	if digest := sha256.Sum256(sums); !ecdsa.VerifyASN1(key, digest[:], signature) {
		t.Error("the signature of SHA256SUMS is not valid")
	}
	if digest := sha256.Sum256(append(sums, '\n')); ecdsa.VerifyASN1(key, digest[:], signature) {
		t.Error("the signature is valid for a changed SHA256SUMS")
	}
}

// requirePrograms requires that each program is built for its platform, contains its version, and contains no trace of the
// build machine. The programs for this platform must print their version.
func (a artefacts) requirePrograms(t *testing.T) {
	traces := append(strings.Fields(run(t, root(t), nil, "go", "env", "GOMODCACHE", "GOCACHE")), root(t))
	dir := t.TempDir()
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		goos, arch, _ := strings.Cut(platform, "_")
		for _, program := range []string{"api", "clock", "hub", "signalcast"} {
			path := filepath.Join(dir, platform+"_"+program)
			if err := os.WriteFile(path, a.programs[platform+"/"+program], 0o700); err != nil {
				t.Fatal(err)
			}
			content := requireNoTrace(t, path, traces)
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			if settings["GOOS"] != goos || settings["GOARCH"] != arch || !bytes.Contains(content, []byte(a.version)) {
				t.Errorf("%s of %s is for %s_%s, or does not contain the version %s",
					program, platform, settings["GOOS"], settings["GOARCH"], a.version)
			}
			if goos == runtime.GOOS && arch == runtime.GOARCH {
				want := regexp.MustCompile("^" + program + " " + regexp.QuoteMeta(a.version) + ` \(commit [0-9a-f]{40}, go1\.\S+\)\n$`)
				if said := run(t, dir, nil, path, "--version"); !want.MatchString(said) {
					t.Errorf("%s --version prints %q; want %s", program, said, want)
				}
			}
		}
	}
}

// requireSBOMs requires that each SBOM is CycloneDX 1.5 or later and lists exactly the modules of the program.
func (a artefacts) requireSBOMs(t *testing.T) {
	for path, content := range a.programs {
		platform, program, _ := strings.Cut(path, "/")
		if program == "LICENSE" {
			continue
		}
		var bom struct {
			Format   string `json:"bomFormat"`
			Spec     string `json:"specVersion"`
			Metadata struct {
				Component struct{ Name, Version string }
			}
			Components []struct{ Name, Version, Purl string }
		}
		if err := json.Unmarshal(a.read(t, program+"_"+a.version+"_"+platform+".cdx.json"), &bom); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if bom.Format != "CycloneDX" || bom.Spec < "1.5" || bom.Metadata.Component.Version != a.version {
			t.Errorf("%s: %s %s of version %s; want CycloneDX 1.5 or later of %s",
				path, bom.Format, bom.Spec, bom.Metadata.Component.Version, a.version)
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		want, got := []string{"std"}, []string(nil)
		for _, m := range info.Deps {
			want = append(want, m.Path)
		}
		for _, c := range bom.Components {
			got = append(got, c.Name)
			if c.Purl != "pkg:golang/"+c.Name+"@"+c.Version || c.Version == "" || c.Version == "(devel)" {
				t.Errorf("%s: module %s has version %q and the package URL %s; want matching values", path, c.Name, c.Version, c.Purl)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: modules (-want +got):\n%s", path, diff)
		}
		if uses := slices.Contains(got, "github.com/jackc/pgx/v5"); uses != (program != "signalcast") {
			t.Errorf("%s: the module pgx is listed: %t; want the opposite", path, uses)
		}
	}
}

// tag returns the image name of a service with its version tag.
func (a artefacts) tag(service string) string {
	prefix := os.Getenv("IMAGE_PREFIX")
	if prefix == "" {
		prefix = "signalcast"
	}
	return prefix + "/" + service + ":" + a.version
}

// requireImages requires that each image has the expected name, architecture and program, and the settings of
// deploy/images/Dockerfile.
func (a artefacts) requireImages(t *testing.T) {
	file := stack.ReadFile(t, filepath.Join(root(t), "deploy/images/Dockerfile"))
	for _, platform := range []string{"linux_amd64", "linux_arm64"} {
		for _, service := range []string{"api", "clock", "hub"} {
			name := service + "_" + a.version + "_" + platform + ".image.tar"
			parts := readTar(t, bytes.NewReader(a.read(t, name)))
			var list []struct {
				Config           string
				RepoTags, Layers []string
			}
			if err := json.Unmarshal(parts["manifest.json"], &list); err != nil || len(list) != 1 || len(list[0].Layers) != 1 {
				t.Fatalf("%s: %v, %+v; want one image with one layer", name, err, list)
			}
			if want := []string{a.tag(service)}; !slices.Equal(list[0].RepoTags, want) {
				t.Errorf("%s has the names %q; want %q", name, list[0].RepoTags, want)
			}
			var image struct {
				Architecture, OS string
				Config           struct {
					User            string
					Entrypoint, Cmd []string
				}
			}
			if err := json.Unmarshal(parts[list[0].Config], &image); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if image.OS+"_"+image.Architecture != platform {
				t.Errorf("%s is an image for the wrong platform %s_%s", name, image.OS, image.Architecture)
			}
			c := image.Config
			for _, line := range []string{"USER " + c.User, "ENTRYPOINT " + marshal(t, c.Entrypoint), "CMD " + marshal(t, c.Cmd)} {
				if !strings.Contains(file, "\n"+line+"\n") {
					t.Errorf("%s has the setting %s, which deploy/images/Dockerfile does not contain", name, line)
				}
			}
			if !bytes.Equal(readArchive(t, parts[list[0].Layers[0]])["service"], a.programs[platform+"/"+service]) {
				t.Errorf("%s contains another program than the archive for %s", name, platform)
			}
		}
	}
}

func marshal(t *testing.T, list []string) string {
	t.Helper()
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// requireLoadableImages requires that a container engine can load the images for this machine. The images must contain exactly
// the expected files, and their programs must run.
func (a artefacts) requireLoadableImages(t *testing.T) {
	if reason := container.Unavailable(); reason != "" {
		t.Skip("no container engine: " + reason)
	}
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-engine-") // the path from t.TempDir would be too long for Unix sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	engine, err := container.Start(t.Context(), filepath.Join(dir, "engine"), container.Options{})
	if err != nil {
		t.Skipf("the container engine does not start on this machine: %v", err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Errorf("stop the engine: %v", err)
		}
	})
	platform := "linux_" + runtime.GOARCH
	for _, service := range []string{"api", "clock", "hub"} {
		image := filepath.Join(a.dir, service+"_"+a.version+"_"+platform+".image.tar")
		run(t, dir, engine.Environ(), "docker", "load", "--quiet", "--input", image)
		program := filepath.Join(dir, service)
		if err := os.WriteFile(program, a.programs[platform+"/"+service], 0o600); err != nil {
			t.Fatal(err)
		}
		requireMinimalImage(t, engine, a.tag(service), program)
		said := run(t, dir, engine.Environ(), "docker", "run", "--rm", "--network=none", a.tag(service), "--version")
		if !strings.HasPrefix(said, service+" "+a.version+" ") {
			t.Errorf("the program in the image of %s printed %q; want the version", service, said)
		}
	}
}

// requireTypeScript requires that the npm package contains the version, the compiled library with its types, and the
// licence.
func (a artefacts) requireTypeScript(t *testing.T) {
	version := strings.TrimPrefix(a.version, "v")
	files := readArchive(t, a.read(t, "signalcast-"+version+".tgz"))
	for _, name := range []string{"dist/index.js", "dist/index.d.ts", "dist/feed.js", "dist/feed.d.ts", "README.md", "LICENSE"} {
		if len(files["package/"+name]) == 0 {
			t.Errorf("the npm package lacks %s", name)
		}
	}
	var about struct{ Name, Version string }
	err := json.Unmarshal(files["package/package.json"], &about)
	if err != nil || about.Name != "signalcast" || about.Version != version {
		t.Errorf("the npm package is %+v (%v); want signalcast %s", about, err, version)
	}
}

// requireGoModule requires that a program outside the repository compiles with the Go library. A module proxy serves the
// library from the zip.
func (a artefacts) requireGoModule(t *testing.T) {
	proxy, user := t.TempDir(), t.TempDir()
	source := fmt.Sprintf("package main\n\nimport (\n\t_ %q\n\t_ %q\n)\n\nfunc main() {}\n",
		sdkModule+"/feed", sdkModule+"/signalcast")
	at := filepath.Join(proxy, sdkModule, "@v")
	archive := a.read(t, "signalcast-sdk-go_"+a.version+".zip")
	for name, content := range map[string]string{
		filepath.Join(at, "list"):            a.version + "\n",
		filepath.Join(at, a.version+".info"): fmt.Sprintf(`{"Version":%q}`, a.version),
		filepath.Join(at, a.version+".mod"):  stack.ReadFile(t, filepath.Join(root(t), "sdk/go/go.mod")),
		filepath.Join(at, a.version+".zip"):  string(archive),
		filepath.Join(user, "go.mod"):        "module example.org/user\n\ngo 1.26.0\n",
		filepath.Join(user, "main.go"):       source,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache := strings.TrimSpace(run(t, user, nil, "go", "env", "GOMODCACHE"))
	// The modules that the library requires come from the module cache of this machine. The zip of the library must not
	// be added to that cache.
	env := []string{
		"GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GONOSUMDB=*", "GOMODCACHE=" + t.TempDir(),
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache/download"),
	}
	run(t, user, env, "go", "get", sdkModule+"@"+a.version)
	run(t, user, env, "go", "build", "-o", os.DevNull, ".")
	if list := run(t, user, env, "go", "list", "-m", sdkModule); strings.TrimSpace(list) != sdkModule+" "+a.version {
		t.Errorf("the program uses the library version %q; want %s", list, a.version)
	}
}
