#!/bin/sh
cd $1
