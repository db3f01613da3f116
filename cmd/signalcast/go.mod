module github.com/signalcast/signalcast/cmd/signalcast

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/signalcast/signalcast/pkg v0.0.0
	golang.org/x/mod v0.42.0
)

replace github.com/signalcast/signalcast/pkg => ../../pkg
