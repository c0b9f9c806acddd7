"""`import clatter`: models from files, texts and dictionaries; runs, steps, results, errors."""

import gc
import math
import os
import pathlib
import re

import numpy as np
import pytest

import clatter

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A stone thrown up: y = v t - g t^2 / 2, at 4 s with 20 m/s: 80 - 78.48 = 1.52 m.
STONE = {
    "clatter": 1,
    "title": "A stone thrown up",
    "parameters": {"v": "20 m/s"},
    "gravity": [0, -9.81, 0],
    "bodies": {"stone": {"type": "particle", "mass": "2 kg", "position": [0, 0, 0], "velocity": [0, "v", 0]}},
    "simulate": {"method": "dopri5", "end": "4 s"},
}

BALL = """clatter: 1
title: A ball that bounces once
gravity: [0, -9.81 m/s^2, 0]
bodies:
  ball: {type: planar, mass: 1 kg, inertia: 0.004 kg*m^2, position: [0, 1.1 m]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.5}}
simulate: {method: event-driven, end: 0.6 s}
"""


def test_a_dictionary_runs_and_gives_arrays():
    result = clatter.Model(STONE).run()
    y = result["stone.position.y"]
    assert isinstance(y, np.ndarray) and y.dtype == np.float64 and y.shape == result.time.shape
    # A method of order five is exact for a parabola: rounding alone.
    np.testing.assert_allclose(y, 20 * result.time - 9.81 / 2 * result.time**2, atol=1e-11)
    assert result["stone.position"].shape == (len(result.time), 3)
    assert np.shares_memory(y, result["stone.position.y"]), "read once, handed out without a copy"
    assert result.status == "finished"
    assert "A stone thrown up" in result.summary
    assert "stone.position" in result.keys()
    assert {q.name: q.unit for q in result.quantities}["stone.position"] == "m"


def test_numpy_values_may_stand_in_a_dictionary():
    model = dict(STONE, gravity=np.array([0, -1.62, 0]), parameters={"v": np.float64(20)})
    simulation = clatter.Model(model).simulation()
    simulation.advance(4)
    assert simulation["stone.position.y"] == pytest.approx(80 - 1.62 / 2 * 16, abs=1e-11)


def test_files_and_changes(tmp_path):
    model = clatter.Model(ROOT / "models/rigid/pendulum.yaml", parameters={"L": "2 m"}, end=0.5, coordinates="joint")
    result = model.run(tmp_path / "two.h5")
    assert result.time[-1] == 0.5
    assert os.path.exists(tmp_path / "two.h5")
    assert result.settings["parameter L"] == "2 m"
    tip = result["rod.tip.position"]
    np.testing.assert_allclose(np.hypot(tip[:, 0], tip[:, 1]), 2, atol=1e-12)
    assert clatter.Result(tmp_path / "two.h5")["rod.tip.position"].shape == tip.shape


def test_steps_by_hand_land_where_the_run_does():
    model = clatter.Model(ROOT / "models/rigid/pendulum.yaml", end=0.5)
    simulation = model.simulation()
    assert simulation.degrees_of_freedom == 1
    steps = 0
    while simulation.time < simulation.end:
        assert simulation.step() > simulation.start
        steps += 1
    assert steps > 10
    # Closed form (Jacobi's sn), as in the model's checks.
    assert simulation["pin.angle"] == pytest.approx(-1.661148416751, abs=1e-8)
    assert model.run()["pin.angle"][-1] == pytest.approx(simulation["pin.angle"], abs=1e-12)


def test_state_is_a_view_that_follows_the_steps_and_outlives_the_name():
    simulation = clatter.Model(STONE).simulation()
    q, v = simulation.coordinates, simulation.velocities
    assert len(simulation.velocity_names) == len(v)
    with pytest.raises(ValueError):
        q[0] = 1
    before = q.copy()
    simulation.advance(1.0)
    assert not np.array_equal(before, q), "the same memory shows the new state"
    assert q[1] == pytest.approx(20 - 9.81 / 2, abs=1e-12)
    simulation.restart()
    np.testing.assert_array_equal(simulation.coordinates, before)
    del simulation
    gc.collect()
    assert q.sum() == pytest.approx(before.sum())


def test_events_of_a_contact():
    simulation = clatter.Model.from_text(BALL).simulation()
    simulation.advance(0.55)
    hit = math.sqrt(2 / 9.81)  # falls one metre
    impacts = [e for e in simulation.events if e.kind == "impact"]
    assert len(impacts) == 1 and impacts[0].t == pytest.approx(hit, abs=1e-9)
    result = clatter.Model.from_text(BALL).run()
    assert [e.kind for e in result.events].count("impact") == 1
    ledger = result.ledger
    # Half the speed is left, a quarter of the energy: 3/4 m g h went.
    assert ledger["stored"][-1] - ledger["stored"][0] == pytest.approx(-0.75 * 9.81, rel=1e-9)
    assert ledger["time"].shape == ledger["remainder"].shape


def test_progress_is_told_and_may_stop_a_run():
    seen = []
    clatter.Model(STONE).run(progress=lambda p: seen.append((p.t, p.steps)))
    assert seen[-1][0] == 4.0 and [s for _, s in seen] == list(range(1, len(seen) + 1))
    result = clatter.Model.from_text(BALL).run(progress=lambda p: p.t < 0.3)
    assert result.status == "interrupted" and 0.3 <= result.time[-1] < 0.6


def test_a_study_answers_with_a_table():
    """A stone thrown up at 20 m/s: it is highest v^2/(2 g) above the ground (closed form)."""
    assert "simulate" in clatter.studies()
    answer = clatter.Model(STONE).ask("simulate")
    assert answer.finished and answer.columns[0] == "quantity" and len(answer.units) == len(answer.columns)
    rows = {row[0]: dict(zip(answer.columns[1:], row[1:])) for row in answer.rows}
    height = rows["stone.position.y"]
    assert height["unit"] == "m" and height["start"] == 0
    assert height["greatest"] == pytest.approx(20**2 / (2 * 9.81), rel=1e-6)  # of samples 4 ms apart
    assert height["end"] == pytest.approx(20 * 4 - 9.81 * 4**2 / 2, rel=1e-9)
    stopped = clatter.Model.from_text(BALL).ask("simulate", progress=lambda p: p.t < 0.3)
    assert not stopped.finished and stopped.rows
    with pytest.raises(clatter.InputError, match="simulate"):
        clatter.Model(STONE).ask("simulat")


def test_what_a_callback_raises_comes_out():
    def bad(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        clatter.Model(STONE).run(progress=bad)


def test_input_errors_tell_place_and_nearest_word():
    with pytest.raises(clatter.InputError) as caught:
        clatter.Model.from_text(BALL.replace("mass:", "mas:"), name="ball.yaml").simulation()
    first = caught.value.diagnostics[0]
    assert (first.file, first.line) == ("ball.yaml", 5)
    assert "mas" in str(caught.value) and "did you mean `mass`?" in " ".join(d.hint for d in caught.value.diagnostics)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(clatter.InputError, match="cannot read the model file"):
        clatter.Model("no/such/model.yaml").run()
    with pytest.raises(clatter.InputError, match="not a model"):
        clatter.Model({"clatter": 1, "bodies": object()})
    with pytest.raises(clatter.InputError, match="stone.positon"):
        clatter.Model(STONE).simulation()["stone.positon"]
    with pytest.raises(clatter.InputError, match="records no"):
        clatter.Model(STONE).run()["stone.positon"]
    simulation = clatter.Model(STONE).simulation()
    simulation.advance(1)
    with pytest.raises(clatter.InputError, match="forward"):
        simulation.advance(0.5)


def test_solve_errors_tell_kind_time_and_elements(tmp_path):
    # Step control cannot pass a force that grows without bound at 1 s.
    model = dict(STONE, forces={"pull": {"type": "force", "on": "stone", "components": [0, "1 N/(1 - t/1 s)^3", 0]}})
    with pytest.raises(clatter.SolveError) as caught:
        clatter.Model(model).run(tmp_path / "failed.h5")
    error = caught.value
    assert error.kind and 0.9 < error.time <= 1.0 and error.advice
    assert isinstance(error, RuntimeError)
    failed = clatter.Result(tmp_path / "failed.h5")
    assert failed.status == "failed" and failed.time[-1] <= error.time


def test_files_that_are_no_results(tmp_path):
    (tmp_path / "noise.h5").write_bytes(b"no result at all")
    with pytest.raises(clatter.ResultError, match="noise.h5"):
        clatter.Result(tmp_path / "noise.h5")
    with pytest.raises(clatter.ResultError, match="missing.h5"):
        clatter.Result(tmp_path / "missing.h5")


def test_a_temporary_result_goes_with_its_object():
    result = clatter.Model(STONE, end=0.1).run()
    path = result.path
    assert os.path.exists(path)
    del result
    gc.collect()
    assert not os.path.exists(path)


def test_a_notebook_shows_the_viewer_or_says_why_not(tmp_path):
    result = clatter.Model(STONE, end=0.1).run()
    shown = result._repr_html_()
    try:
        result.report(tmp_path / "report.html")
    except clatter.ResultError as error:  # the page was not built: without npm there is none
        assert "viewer.html" in str(error) and "viewer.html" in shown
        return
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="clatter-report"' in page and page.rstrip().endswith("</html>")
    assert shown.startswith("<iframe") and "srcdoc=" in shown and 'id="clatter-report"' not in shown


def test_the_stubs_name_what_there_is():
    """Every public name of the compiled module, and of its classes, is in the stub and the other way round."""
    import ast

    from clatter import _clatter

    stub = ast.parse((pathlib.Path(clatter.__file__).parent / "_clatter.pyi").read_text())
    classes = {n.name: n for n in stub.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in stub.body if isinstance(n, ast.FunctionDef)}
    public = {n for n in dir(_clatter) if not n.startswith("_")}
    assert public == set(classes) | functions
    for name, node in classes.items():
        told = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        told |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
        real = {n for n in dir(getattr(_clatter, name)) if not n.startswith("_")}
        assert real == {n for n in told if not n.startswith("_")}, name


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    try:
        clatter.Model(STONE, end=0.1).run().report("page.html")
    except clatter.ResultError:  # no viewer's page, see above
        monkeypatch.setattr(clatter.Result, "report", lambda self, path: None)
    names = {}
    for block in blocks:
        exec(block, names)
    assert names["result"].time[-1] == 3.0
    assert names["answer"].finished and names["answer"].columns == ["quantity", "unit", "start", "end", "least", "greatest"]
    assert names["simulation"].time == 0.0, "restarted"
