package storetest_test

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

func TestMemory_KeepsTheContract(t *testing.T) {
	storetest.Run(t, func(testing.TB) store.Table { return storetest.NewMemory(clock.RealClock{}) })
}
