//go:build tools

// Package tools names the program that go.mod pins, so that the Go client keeps it.
package tools

import _ "github.com/pingcap/go-ycsb/cmd/go-ycsb"
