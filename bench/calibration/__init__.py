"""Simulated studies with a known truth: are intervals, verdicts and plans correct?

python -m bench.calibration          every scenario, a few minutes; prints and writes the page
python -m bench.calibration 200      fewer studies per scenario; only prints
python -m bench.calibration --sliced-looks     only this part; likewise --looks
"""
