package storetest_test

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

func TestMemory_KeepsTheContract(t *testing.T) {
	storetest.Run(t, inMemory)
}

func TestMemory_MoreThan10000_S26_S81_H05(t *testing.T) { storetest.RunMany(t, inMemory) }

func inMemory(testing.TB) store.Table { return storetest.NewMemory(clock.RealClock{}) }
