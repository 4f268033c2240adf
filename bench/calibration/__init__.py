"""Simulated studies with a known truth: do intervals, verdicts and plans keep their promises?

python -m bench.calibration          every scenario, a few minutes; prints and writes the page
python -m bench.calibration 200      fewer studies per scenario, prints only
python -m bench.calibration --sliced-looks     one part alone; --looks: another
"""
