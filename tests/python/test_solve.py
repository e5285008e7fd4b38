"""Problems from numpy and scipy.sparse."""

import numpy as np
import pytest
import scipy.sparse as sparse

import stiction as st


def random_definite(seed, n):
    random = np.random.default_rng(seed)
    a = random.standard_normal((n, n))
    return a @ a.T + np.eye(n), random.standard_normal(n)


def test_lcps_are_solved_dense_and_sparse():
    for seed in range(20):
        m, q = random_definite(seed, 12)
        answer = st.solve(m, q)
        assert answer and answer.kind == "lcp"
        w = m @ answer.z + q
        assert np.abs(np.minimum(answer.z, w)).max() <= 1e-8 * np.linalg.norm(q)
        assert np.abs(answer.w - w).max() < 1e-10
        assert np.allclose(st.solve(sparse.coo_matrix(m), q).z, answer.z, atol=1e-9)


def test_mlcps_have_equations_where_asked():
    m, q = random_definite(1, 6)
    answer = st.solve(m, q, equations=[1, 4])
    w = m @ answer.z + q
    assert answer.kind == "mlcp" and np.abs(w[[1, 4]]).max() < 1e-7
    rest = [0, 2, 3, 5]
    assert np.abs(np.minimum(answer.z[rest], w[rest])).max() < 1e-7
    mask = np.zeros(6, bool)
    mask[[1, 4]] = True
    assert np.array_equal(st.solve(m, q, equations=mask).z, answer.z)


def test_a_block_slides_or_sticks_in_both_forms():
    mass, h = 2.0, 0.1
    for push, slides in ((5.0, False), (15.0, True)):  # weight 20 N, μ = 0.5
        f = h * np.array([-20.0, push, 0.0])  # normal, tangents
        r = st.solve(W=np.eye(3) / mass, q=f / mass, mu=[0.5]).r
        expected = [2.0, -min(push * h, 1.0), 0.0]
        assert r == pytest.approx(expected, abs=1e-8)
        answer = st.solve(M=sparse.eye(3) * mass, f=f, H=np.eye(3), w=np.zeros(3), mu=0.5)
        assert answer.r == pytest.approx(expected, abs=1e-8)
        assert (answer.v[1] > 1e-3) == slides


def test_what_is_no_problem_is_refused():
    m = np.eye(2)
    for arguments, error, message in (
        ((m, [1, 2, 3]), st.InputError, "M has shape"),
        ((m, [1, np.nan]), st.InputError, "q holds a number"),
        ((m, ["a", "b"]), TypeError, "q has dtype"),
        ((m * 1j, [1, 2]), TypeError, "M has dtype"),
        ((m,), st.InputError, "give M and q"),
    ):
        with pytest.raises(error, match=message):
            st.solve(*arguments)
    with pytest.raises(st.InputError, match="mu is -1"):
        st.solve(W=np.eye(3), q=np.ones(3), mu=[-1])
    with pytest.raises(st.InputError, match="2 or 3 for each"):
        st.solve(W=np.eye(4), q=np.ones(4), mu=[1])
    with pytest.raises(st.InputError, match="index out of"):
        st.solve(m, [1, 2], equations=[2])
    with pytest.raises(st.InputError, match="friction is 'round'"):
        st.solve(W=np.eye(3), q=np.ones(3), mu=[1], friction="round")
    with pytest.raises(st.InputError, match="nosuch"):
        st.solve(m, [1, 2], solver="nosuch")
    with pytest.raises(st.IoError):
        st.solve("no/such/file.hdf5")


def test_an_infeasible_problem_is_not_called_solved():
    answer = st.solve(np.zeros((1, 1)), [-1.0])
    assert not answer and answer.status != "solved"
