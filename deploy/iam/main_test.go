package iam_test

import (
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) { awstest.Main(m) }
